"""Evidence as the command line shows it."""

from service.cli.printing.evidence import shown_proof
from service.schemas import Evidence, ProofEvidence


def test_a_proof_by_the_simulator_says_why_machine_code_was_not_executed() -> None:
    proof = ProofEvidence(kind="simulator", checked=12, total=12)
    assert shown_proof(Evidence(time=None, proof=proof)).endswith("12 of 12 tiles of C")
    refused = proof.model_copy(update={"refusal": "not known: opcode foo"})
    assert shown_proof(Evidence(time=None, proof=refused)).endswith(
        "; machine code not executed: not known: opcode foo"
    )
