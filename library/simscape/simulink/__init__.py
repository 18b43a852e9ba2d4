"""What do Simulink's blocks and signals become?"""
